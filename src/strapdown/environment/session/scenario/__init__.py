"""Scenario files: vehicle, sensors, scene, pilot script, and their timetable."""
