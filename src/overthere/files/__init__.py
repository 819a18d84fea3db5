"""Files of data: objects in stores, tables, and logs of SARIF."""
