/** How commands talk: data to stdout, everything else to stderr. */
import { styleText } from 'node:util'

/** Exit code: something is wrong. */
export const FAILURE = 1
/** Exit code: the command was not understood. */
export const WRONG_USAGE = 2

/** Writes a line of what was asked for. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`)
/** Writes a line for whoever is at the terminal. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`)
/** Writes what was asked for as JSON. */
export const printJson = (value: unknown) => print(JSON.stringify(value, null, 2))
/** Text in green where stderr is a terminal; heeds NO_COLOR. */
export const green = (text: string) => styleText('green', text, { stream: process.stderr })
/** The same in red. */
export const red = (text: string) => styleText('red', text, { stream: process.stderr })

/** Columns as wide as their widest cell; the last one as it comes. */
export function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length))) ?? []
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}
