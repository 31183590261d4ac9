/** The page of all commands, as `docs/commands.md` has it: made of their help, so that it cannot say anything else. */
import type { Command } from 'commander'
import { examplesOf, leavesOf, notesOf } from './command.ts'

/** As the formatter lays tables out. */
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
  const shown = help.formatHelp(command, help).trimEnd()
  const examples = examplesOf(command).map((line) => `$ ${line}`)
  const note = notesOf(command) && `\n\n${notesOf(command)}`
  return `## annal ${name}\n\n\`\`\`\n${shown}\n\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}${note}\n\`\`\`\n`
}

/** Markdown of every command: a table of what each is for, then the help of each. */
export function commandsPage(program: Command): string {
  const leaves = leavesOf(program)
  const rows = leaves.map(({ name, command }): [string, string] => [
    `[\`annal ${name}\`](#annal-${name.replaceAll(' ', '-')})`,
    command.description(),
  ])
  return `# Commands

\`npm run annal -- <command>\`, or \`annal <command>\` where the package is installed. Configured by the same variables as the server; works beside
a running one, and starts the embedded database when none runs. Data goes to stdout, talk to stderr; \`--json\` prints data for programs. Exit codes: 0, 1 when something
is wrong, 2 on wrong usage; \`annal verify\` has 3, too. Colours follow the terminal and \`NO_COLOR\`. \`annal completion\` has a shell complete all of it.

This page is made of the commands' own help (\`npm run test:processes -- commands -u\`).

${tableOf([['command', 'what it is for'], ...rows])}

${leaves.map(({ name, command }) => section(name, command)).join('\n')}`
}
