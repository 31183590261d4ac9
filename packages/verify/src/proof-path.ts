import { stat } from 'node:fs/promises'

/** Whether this names a file, and not an asset. */
export const isProofPath = async (subject: string): Promise<boolean> =>
  subject.endsWith('.car') ||
  (await stat(subject).then(
    (found) => found.isFile(),
    () => false,
  ))
