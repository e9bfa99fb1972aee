"""The closed loop: a vehicle, its virtual sensors and its diagram on one clock. A session runs without a screen."""
