"""The multiplicative Kalman filter."""
