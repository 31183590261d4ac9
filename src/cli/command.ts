import type { Command } from 'commander'

const examples = new WeakMap<Command, readonly string[]>()

/** What a command's help shows as examples, each a whole line. */
export const examplesOf = (command: Command): readonly string[] => examples.get(command) ?? []

/** A subcommand, which shares its parent's way to fail. `lines`: examples for its help, such as `annal jobs --retry`. */
export function command(parent: Command, name: string, description: string, lines: readonly string[] = []): Command {
  const made = parent.command(name).description(description).copyInheritedSettings(parent)
  if (lines.length === 0) return made
  examples.set(made, lines)
  return made.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)
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
