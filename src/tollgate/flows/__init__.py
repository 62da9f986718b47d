"""One file per story, each told in one screen. Stories use steps; they do not know HTTP."""
