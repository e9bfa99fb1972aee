"""Where the body is: analytic paths, recorded poses, and the protocols that engines share with them."""
