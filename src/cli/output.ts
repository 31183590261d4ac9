/** How commands talk: data to stdout, everything else to stderr. */
import { styleText } from 'node:util'
import { type Terminal, terminal } from './terminal.ts'

/** Exit code: something is wrong. */
export const FAILURE = 1
/** Exit code: the command was not understood. */
export const WRONG_USAGE = 2

/** Ends the command with this exit code, once it is done. */
export const fail = (code = FAILURE): void => {
  terminal().exitCode = code
}

/** Writes a line of what was asked for. */
export const print = (text: string): void => void terminal().stdout.write(`${text}\n`)
/** Writes a line for whoever is at the terminal. */
export const say = (text: string): void => void terminal().stderr.write(`${text}\n`)
/** What is said when what is printed from now on cannot be read: a secret is told this once. */
export const ifUnread = (text: string): void => {
  terminal().ifUnread = text
}

/** Writes what was asked for as JSON. */
export const printJson = (value: unknown) => print(JSON.stringify(value, null, 2))

type Style = Parameters<typeof styleText>[0]
type Stream = Terminal['stderr']
/** Only where somebody looks at it, and not against their will. */
const styled =
  (style: Style) =>
  (text: string, stream: Stream = terminal().stderr) =>
    styleText(style, text, { stream })

/** Text in green where the stream, stderr if none is given, is a terminal; heeds NO_COLOR. */
export const green = styled('green')
/** The same in red. */
export const red = styled('red')
/** The same in yellow. */
export const yellow = styled('yellow')

/** Formats rows as columns that are as wide as their widest cell. The last column is not padded. */
export function table(rows: string[][]): string {
  const widthOf = (column: number) => rows.reduce((width, row) => Math.max(width, row[column]!.length), 0)
  const widths = rows[0]?.map((_, column) => widthOf(column)) ?? []
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}

/** A number with its noun: `1 job`, `2 jobs`. */
export const counted = (count: number, noun: string, nouns = `${noun}s`) => `${count} ${count === 1 ? noun : nouns}`
