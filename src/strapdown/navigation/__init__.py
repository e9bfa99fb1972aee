"""Where the body went: dead reckoning from rates and specific force."""
