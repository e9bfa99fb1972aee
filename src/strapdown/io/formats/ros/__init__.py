"""Messages of ROS 1 and ROS 2, from bags and MCAP files and into them."""
