/** Generates docs/reference/commands.md from the help of the commands. */
import type { Command } from 'commander'
import { helpTextOf, leavesOf } from '../../src/cli/command.ts'

/** Formats a Markdown table as the formatter does. */
function tableOf(rows: readonly [string, string][]): string {
  const cells = rows.map((row) => row.map((text) => text.replaceAll('|', '\\|')))
  const widths = [0, 1].map((column) => Math.max(...cells.map((row) => row[column]!.length)))
  const line = (row: readonly string[]) => `| ${row.map((text, column) => text.padEnd(widths[column]!)).join(' | ')} |`
  const [head, ...body] = cells
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}

function section(name: string, command: Command): string {
  const help = command.createHelp()
  help.prepareContext({ helpWidth: 110 })
  const text = help.formatHelp(command, help).trimEnd()
  const { examples, notes } = helpTextOf(command)
  const below = notes && `\n\n${notes}`
  return `## annal ${name}\n\n\`\`\`\n${text}\n\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}${below}\n\`\`\`\n`
}

/** Returns the page in Markdown: a table of all commands, then the help of each. */
export function commandsPage(program: Command): string {
  const leaves = leavesOf(program)
  const rows = leaves.map(({ name, command }): [string, string] => [
    `[\`annal ${name}\`](#annal-${name.replaceAll(' ', '-')})`,
    command.description(),
  ])
  return `# Commands

This page lists all commands for operators. Run them with \`npm run annal -- <command>\`, or with \`annal <command>\` if the package is installed.

- Commands read the same environment variables as the server. They work beside a running server, and start the embedded database if none runs.
- Results go to stdout, messages to stderr. \`--json\` prints results for programs.
- Exit codes: 0 success, 1 problem, 2 wrong usage. \`annal verify\` also has 3.
- Colors follow the terminal and \`NO_COLOR\`. \`annal completion\` sets up completion in your shell.

A test generates this page from the help of the commands: \`npm run test:processes -- commands --update\`.

${tableOf([['command', 'purpose'], ...rows])}

${leaves.map(({ name, command }) => section(name, command)).join('\n')}`
}
