"""Messages read (RFC 5322; RFC 2045 to 2047), for whoever needs one: mid: and cid:, and the main job."""
