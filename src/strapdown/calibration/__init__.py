"""From readings to the errors of the sensor that gave them, and back to readings without them."""
