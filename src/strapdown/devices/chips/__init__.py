"""The module's chips at register level: virtual ones on a virtual I2C bus, and their drivers."""
