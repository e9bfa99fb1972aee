"""The closed loop: a vehicle, its virtual sensors and its diagram on one clock. It runs without a screen."""
