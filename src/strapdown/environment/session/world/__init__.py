"""The world around the vehicle: wind, surroundings, and the watch over the true motion."""
