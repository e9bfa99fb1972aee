"""Paper B in the closed loop: the quadcopter, the Mars helicopter and the rover fly and drive on their estimates."""
