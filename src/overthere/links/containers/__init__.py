"""Containers: formats that hold documents."""
