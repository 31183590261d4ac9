/** The code that Node or PostgreSQL gave an error, if any. */
export const errorCode = (error: unknown) => (error as NodeJS.ErrnoException | undefined)?.code

/** What a file that is not there is read as; raises any other error again. */
export const ifMissing = (error: unknown) => {
  if (errorCode(error) === 'ENOENT') return undefined
  throw error
}
