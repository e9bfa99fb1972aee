"""What the body feels: virtual sensors on a moving frame."""
