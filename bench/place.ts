import { join } from 'node:path'

/** Where the embedded parts of the measured process keep their data, inside the runner's folder. */
export const installationDir = (work: string) => join(work, 'ours')
