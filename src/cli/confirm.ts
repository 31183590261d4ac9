import { createInterface } from 'node:readline/promises'
import { terminal } from './terminal.ts'

/** Asks at the terminal, and tells whether exactly this was typed. No, where nobody sits there. */
export async function isTyped(question: string, expected: string): Promise<boolean> {
  const { stdin, stderr } = terminal()
  if (!stdin.isTTY) return false
  const prompt = createInterface({ input: stdin, output: stderr })
  const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')))
  try {
    return (await Promise.race([prompt.question(question), closed])).trim() === expected
  } finally {
    prompt.close()
  }
}
