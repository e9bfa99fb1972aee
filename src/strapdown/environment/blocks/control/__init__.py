"""Blocks that control: from sticks to motors."""
