/** Defines commands with their help, and parses their options. */
import { type Command, InvalidArgumentError } from 'commander'
import { DomainError } from '../shared/errors.ts'

const helpTexts = new WeakMap<Command, { examples: readonly string[]; notes: string }>()

export const helpTextOf = (command: Command) => helpTexts.get(command) ?? { examples: [], notes: '' }

/** Options of a command with text values, and `--json`. */
export type Flags<Required extends string, Optional extends string = never> = Record<Required, string> &
  Partial<Record<Optional, string>> & { json?: true }

interface CommandText {
  description: string
  /** Complete command lines. A command group has none. */
  examples?: readonly string[]
  /** Text below the examples. */
  notes?: string
  /** Description of the JSON output. It adds the option `--json`. */
  json?: string
}

export function command(parent: Command, name: string, { description, json, ...help }: CommandText): Command {
  const { examples = [], notes = '' } = help
  const added = parent.command(name).description(description).copyInheritedSettings(parent)
  if (json !== undefined) added.option('--json', `prints ${json}`)
  if (examples.length === 0) return added
  helpTexts.set(added, { examples, notes })
  const below = notes && `\n\n${notes}`
  return added.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}${below}`)
}

export const integer =
  (min: number, max = Infinity) =>
  (text: string): number => {
    const number = Number(text)
    if (Number.isInteger(number) && number >= min && number <= max) return number
    throw new InvalidArgumentError(`Expected an integer from ${min}${max === Infinity ? '' : ` to ${max}`}.`)
  }

export const transactionHash = (text: string): string => {
  if (!/^0x[\da-f]{64}$/i.test(text)) throw new InvalidArgumentError('Expected a transaction hash.')
  return text.toLowerCase()
}

/** Returns an error handler that replaces input fields by option names in validation errors. `options` maps fields to options. */
export const nameOptions =
  (options: Readonly<Record<string, string>>) =>
  (error: unknown): never => {
    if (!(error instanceof DomainError) || typeof error.details !== 'object' || Array.isArray(error.details))
      throw error
    const details = Object.entries(error.details).map(([field, problems]) => [options[field] ?? field, problems])
    throw new DomainError(error.code, error.message, { details: Object.fromEntries(details) })
  }
