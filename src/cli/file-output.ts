/** What is printed into a file. */
import { fstatSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'

/** Whether it is a regular file; false of what is not open. */
function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile()
  } catch {
    return false
  }
}

/**
 * Writes to an open file, all of it or with an error. Node's own stream for a stdout that leads into a file takes what a full disk had room for
 * as the whole.
 */
const writerOf = (fd: number): Writable =>
  new Writable({
    write(bytes: Buffer, _encoding, done) {
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written)
      } catch (error) {
        return done(error as Error)
      }
      done()
    },
  })

/** The process's stdout, on which a file is written whole or an error raised. */
export const wholeStdout = (): typeof process.stdout | Writable =>
  isFile(process.stdout.fd) ? writerOf(process.stdout.fd) : process.stdout
