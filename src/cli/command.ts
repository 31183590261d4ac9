import type { Command } from 'commander'

const examples = new WeakMap<Command, readonly string[]>()

/** What a command's help shows as examples, each a whole line. */
export const examplesOf = (command: Command): readonly string[] => examples.get(command) ?? []

const notes = new WeakMap<Command, string>()

/** What a command's help says below its examples; empty for nothing. */
export const notesOf = (command: Command): string => notes.get(command) ?? ''

/**
 * A subcommand, which shares its parent's way to fail. `lines`: examples for its help, such as `annal jobs --retry`; `note`: what else is to be
 * known, below them.
 */
export function command(
  parent: Command,
  name: string,
  description: string,
  lines: readonly string[] = [],
  note = '',
): Command {
  const made = parent.command(name).description(description).copyInheritedSettings(parent)
  if (lines.length === 0) return made
  examples.set(made, lines)
  notes.set(made, note)
  const below = note && `\n\n${note}`
  return made.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}${below}`)
}

/** All commands below one that do something themselves, with their whole names: `keys rotate`. */
export function leavesOf(parent: Command, prefix = ''): { name: string; command: Command }[] {
  return parent.commands.flatMap((each) => {
    const name = `${prefix}${each.name()}`
    const below = leavesOf(each, `${name} `)
    return isGroup(each) ? below : [{ name, command: each }, ...below]
  })
}

/** Whether a command only holds others: those have no examples of their own. */
const isGroup = (each: Command) => each.commands.length > 0 && examplesOf(each).length === 0
