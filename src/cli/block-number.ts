import { InvalidArgumentError } from 'commander'

/** The number of a block, as an option. Raises InvalidArgumentError. */
export const blockNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Expected the number of a block.')
  return Number(text)
}
