"""Robots in Drake."""
