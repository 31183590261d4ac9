import { InvalidArgumentError } from 'commander'
import { readInt } from '../db/sql.ts'

/** The number of a block, as an option. Raises InvalidArgumentError. */
export const blockNumber = (text: string): number => {
  const number = readInt(text)
  if (number === undefined) throw new InvalidArgumentError('Expected the number of a block.')
  return number
}
