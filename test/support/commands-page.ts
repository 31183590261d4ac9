/** Generates docs/reference/commands.md from the help of the commands. */
import type { Command } from 'commander'
import { helpTextOf } from '../../src/cli/command.ts'

/** Returns all commands except groups, with their full names, such as `keys rotate`. */
export function leavesOf(parent: Command, prefix = ''): { name: string; command: Command }[] {
  return parent.commands.flatMap((each) => {
    const name = `${prefix}${each.name()}`
    const isGroup = each.commands.length > 0 && helpTextOf(each).examples.length === 0
    return [...(isGroup ? [] : [{ name, command: each }]), ...leavesOf(each, `${name} `)]
  })
}

const escapeTags = (text: string) => text.replace(/<(?=[a-z])/g, '\\<')

function section(name: string, command: Command): string {
  const { examples } = helpTextOf(command)
  const help = command.createHelp()
  const [example] = examples
  const terms = [
    ...help
      .visibleArguments(command)
      .map((argument) => [`<${argument.name()}>`, help.argumentDescription(argument)] as const),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help' && long !== '--json')
      .map((option) => [help.optionTerm(option), help.optionDescription(option)] as const),
  ]
  const lines = terms.map(([term, description]) => `- \`${term}\`: ${escapeTags(description)}`).join('\n')
  const parts = [`## annal ${name}`, command.description(), example === `annal ${name}` ? '' : `    ${example}`, lines]
  return parts.filter(Boolean).join('\n\n')
}

/** Returns the page in Markdown: a section for each command. */
export function commandsPage(program: Command): string {
  return `# Commands

This page lists all commands for operators. A test generates it from their help: \`npm run test:processes -- commands --update\`.

| installation | how to run a command                                        |
| ------------ | ----------------------------------------------------------- |
| clone        | \`npm run annal -- doctor\`                                 |
| package      | \`npx annal doctor\`                                        |
| systemd      | \`annal doctor\` as root, with [deploy/systemd/annal](../../deploy/systemd/annal) |
| Compose      | \`docker compose exec annal annal doctor\`                  |
| Kubernetes   | \`kubectl exec deploy/annal -- annal doctor\`               |

- Run commands as the user that runs Annal, or as root, with the environment variables of the server. They work beside a running server.
- \`--help\` shows notes, more examples, and the format of the \`--json\` output. All commands except \`serve\` have \`--json\`.
- Results go to stdout, messages to stderr. Colors follow the terminal and \`NO_COLOR\`.
- Exit codes: 0 success, 1 problem, 2 wrong usage. \`annal verify\` also has 3.

${leavesOf(program)
  .map(({ name, command }) => section(name, command))
  .join('\n\n')}
`
}
