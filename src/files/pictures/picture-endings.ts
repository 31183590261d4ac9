/** Exit code if the source is not a supported picture. */
export const UNREADABLE = 2
/** The signal that the process sends itself if the picture exceeds the limits. */
export const TOO_MUCH = 'SIGXCPU'
