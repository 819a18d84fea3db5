"""The schemes that are known: a file each, or a folder where a scheme has several."""
