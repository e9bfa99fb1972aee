"""What carries the sensor: a wheeled robot, a foot, a hand."""
