/** Command `completion`. */
import { Argument, type Command } from 'commander'
import { command } from './command.ts'
import { print } from './terminal.ts'

/** Words that can follow a command line. The keys are full commands such as `keys rotate`, or a command and an option. */
function wordsAfter(parent: Command, path = ''): [line: string, words: string[]][] {
  const options = [...new Set([...parent.options.map(({ long }) => long!), '--help'])]
  const choices = parent.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const values = parent.options.filter(({ argChoices }) => argChoices)
  return [
    [path, [...parent.commands.map((each) => each.name()), ...choices, ...options]],
    ...values.map(({ long, argChoices }): [string, string[]] => [`${path} ${long}`.trim(), [...argChoices!]]),
    ...parent.commands.flatMap((each) => wordsAfter(each, `${path} ${each.name()}`.trim())),
  ]
}

/** Returns the script for bash, which also works in zsh. It follows the words of the line as far as they are known. */
const bash = (program: Command) => `# Completion of annal for bash: source <(annal completion bash)
_annal_words() {
  case "$1" in
${wordsAfter(program)
  .map(([line, words]) => `    '${line}') echo '${words.join(' ')}' ;;`)
  .join('\n')}
  esac
}
_annal() {
  local at='' word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    if [ -n "$(_annal_words "\${at:+$at }$word")" ]; then
      case "$word" in -*) ;; *) at="\${at:+$at }$word" ;; esac
    fi
  done
  local words="$(_annal_words "\${at:+$at }\${COMP_WORDS[COMP_CWORD-1]}")"
  COMPREPLY=($(compgen -W "\${words:-$(_annal_words "$at")}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _annal annal`

const zsh = (program: Command) => `autoload -U +X bashcompinit && bashcompinit\n${bash(program)}`

const fish = (program: Command) => `# Completion of annal for fish: annal completion fish | source
function __annal_words
  switch "$argv"
${wordsAfter(program)
  .map(([line, words]) => `    case '${line}'\n      string split ' ' -- '${words.join(' ')}'`)
  .join('\n')}
  end
end
function __annal
  set -l at
  set -l typed (commandline -opc)
  for word in $typed[2..]
    if not string match -q -- '-*' $word; and count (__annal_words $at $word) >/dev/null
      set -a at $word
    end
  end
  set -l words (__annal_words $at $typed[-1])
  count $words >/dev/null; or set words (__annal_words $at)
  printf '%s\\n' $words
end
complete -c annal -a '(__annal)'`

const shells = { bash, zsh, fish }

export function addCompletionCommand(program: Command): void {
  command(program, 'completion', {
    description: 'Prints a shell completion script.',
    examples: [
      'source <(annal completion bash)',
      'source <(annal completion zsh)',
      'annal completion fish > ~/.config/fish/completions/annal.fish',
    ],
  })
    .addArgument(new Argument('<shell>', 'shell').choices(Object.keys(shells)))
    .action((shell: keyof typeof shells) => print(shells[shell](program)))
}
