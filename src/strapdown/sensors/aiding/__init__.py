"""External sensors that aid navigation: altimeter, barometer, fixes."""
