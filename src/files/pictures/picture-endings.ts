/** How the process that reads a picture ends when there will be none. */

/** The exit code: the picture is none, or none that we read. */
export const UNREADABLE = 2

/** The signal that it sends itself when the picture takes too much. Nobody else sends that one. */
export const TOO_MUCH = 'SIGXCPU'
