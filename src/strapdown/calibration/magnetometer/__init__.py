"""Hard iron, soft iron and axes of a magnetometer, from a log in which it was turned."""
