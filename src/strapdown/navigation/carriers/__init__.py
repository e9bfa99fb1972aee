"""Carriers of the sensor: a wheeled robot, a foot, a hand."""
