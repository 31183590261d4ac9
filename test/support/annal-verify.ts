import { main } from '../../packages/verify/src/main.ts'
import type { Said } from './annal-command.ts'

export async function annalVerify(...args: string[]): Promise<Said> {
  const said = { stdout: '', stderr: '' }
  const writer = (name: keyof typeof said) => ({
    write(text: string) {
      said[name] += text
    },
  })
  const code = await main(args, writer('stdout'), writer('stderr'))
  return { code, ...said }
}
