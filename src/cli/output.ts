/** How commands talk: data to stdout, everything else to stderr. */
import { styleText } from 'node:util'

export const FAILURE = 1
export const WRONG_USAGE = 2

export const print = (text: string): void => void process.stdout.write(`${text}\n`)
export const say = (text: string): void => void process.stderr.write(`${text}\n`)
export const printJson = (value: unknown) => print(JSON.stringify(value, null, 2))
// Heeds NO_COLOR, and leaves colours out where stderr is no terminal.
export const green = (text: string) => styleText('green', text, { stream: process.stderr })
export const red = (text: string) => styleText('red', text, { stream: process.stderr })

/** Columns as wide as their widest cell; the last one as it comes. */
export function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length))) ?? []
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}
