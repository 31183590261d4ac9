/** Command `completion`. */
import { Argument, type Command } from 'commander'
import { command } from './command.ts'
import { print } from './terminal.ts'

/** A command with the words that can follow it. */
interface Node {
  /** Full name of the command, such as `keys rotate`. Empty for the program itself. */
  path: string
  commands: { name: string; description: string }[]
  options: { name: string; description: string; values: readonly string[] }[]
}

function nodesOf(parent: Command, path = ''): Node[] {
  const choices = parent.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const commands = [
    ...parent.commands.map((each) => ({ name: each.name(), description: each.description() })),
    ...choices.map((name) => ({ name, description: '' })),
  ]
  const visible = parent.createHelp().visibleOptions(parent)
  const all = new Set([...parent.options, ...visible.filter(({ long }) => long === '--help')])
  const options = [...all].map(({ long, description, argChoices = [] }) => ({
    ...{ name: long!, description, values: argChoices },
  }))
  const below = parent.commands.flatMap((each) => nodesOf(each, `${path} ${each.name()}`.trim()))
  return [{ path, commands, options }, ...below]
}

/** Quotes a text for bash, zsh and fish. */
const quote = (text: string) => `'${text.replaceAll("'", `'"'"'`)}'`

/** Returns the shell pattern that leads to a command: the parent's path and the last word, such as `keys|rotate`. */
const stepTo = (path: string) => {
  const words = path.split(' ')
  return quote(`${words.slice(0, -1).join(' ')}|${words.at(-1)}`)
}

/** Returns the `case` branches of bash and zsh that follow the words of a command line. */
const stepCases = (nodes: readonly Node[]) =>
  nodes
    .filter(({ path }) => path)
    .map(({ path }) => `      ${stepTo(path)}) at=${quote(path)} ;;`)
    .join('\n')

/** Returns the `case` branches of bash and zsh that complete the value of an option. */
const valueCases = (nodes: readonly Node[], variable: string) =>
  nodes
    .flatMap(({ path, options }) =>
      options
        .filter(({ values }) => values.length)
        .map(({ name, values }) => `    ${quote(`${path}|${name}`)}) ${variable}=${quote(values.join(' '))} ;;`),
    )
    .join('\n')

function bash(nodes: readonly Node[]): string {
  const words = ({ commands, options }: Node) => [...commands, ...options].map(({ name }) => name).join(' ')
  return `# Completion of annal for bash: source <(annal completion bash)
_annal() {
  local at='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at|$word" in
${stepCases(nodes)}
    esac
  done
  case "$at|\${COMP_WORDS[COMP_CWORD-1]}" in
${valueCases(nodes, 'words')}
    *) case "$at" in
${nodes.map((node) => `      ${quote(node.path)}) words=${quote(words(node))} ;;`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _annal annal`
}

function zsh(nodes: readonly Node[]): string {
  const described = ({ commands, options }: Node) =>
    [...commands, ...options]
      .map(({ name, description }) => quote(description ? `${name}:${description.replaceAll(':', '\\:')}` : name))
      .join(' ')
  return `#compdef annal
# Completion of annal for zsh: source <(annal completion zsh), or save it as _annal in a folder of $fpath
_annal() {
  local at='' word values
  local -a found
  for word in "\${words[@]:1:$((CURRENT-2))}"; do
    case "$at|$word" in
${stepCases(nodes)}
    esac
  done
  case "$at|\${words[CURRENT-1]}" in
${valueCases(nodes, 'values')}
  esac
  if [[ -n "$values" ]]; then compadd -- \${=values}; return; fi
  case "$at" in
${nodes.map((node) => `    ${quote(node.path)}) found=(${described(node)}) ;;`).join('\n')}
  esac
  _describe annal found || _files
}
(( $+functions[compdef] )) && compdef _annal annal`
}

function fish(nodes: readonly Node[]): string {
  const steps = nodes
    .filter(({ path }) => path)
    .map(({ path }) => `      case ${stepTo(path)}\n        set at ${quote(path)}`)
  const lines = nodes.flatMap(({ path, commands, options }) => {
    const condition = quote(`__annal_at ${quote(path)}`)
    const commandLines = commands.map(
      ({ name, description }) => `-f -a ${name}${description ? ` -d ${quote(description)}` : ''}`,
    )
    const optionLines = options.map(({ name, description, values }) => {
      const choices = values.length ? ` -x -a ${quote(values.join(' '))}` : ''
      return `-l ${name.slice(2)}${choices} -d ${quote(description)}`
    })
    return [...commandLines, ...optionLines].map((line) => `complete -c annal -n ${condition} ${line}`)
  })
  return `# Completion of annal for fish: annal completion fish | source
function __annal_at --description 'Tests whether the words so far name this command'
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at|$word"
${steps.join('\n')}
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}`
}

const shells = { bash, zsh, fish }

export function addCompletionCommand(program: Command): void {
  command(program, 'completion', 'Prints a shell completion script.', [
    'source <(annal completion bash)',
    'annal completion zsh > ~/.zfunc/_annal',
    'annal completion fish > ~/.config/fish/completions/annal.fish',
  ])
    .addArgument(new Argument('<shell>', 'shell').choices(Object.keys(shells)))
    .action((shell: keyof typeof shells) => print(shells[shell](nodesOf(program))))
}
