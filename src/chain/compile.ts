/** Compiles `registry.sol` into JSON, which is committed. With `--check`, exits with 1 if the committed JSON differs. */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

const CONTRACT = 'CommitRegistry'
const SOURCE = 'registry.sol'
export const artefactFile = new URL('registry.json', import.meta.url)

interface CompilerOutput {
  errors?: { severity: string; formattedMessage: string }[]
  contracts?: { [file: string]: { [contract: string]: { abi: unknown; evm: { bytecode: { object: string } } } } }
}

/** Returns the exact text of `registry.json`. Throws the compiler's messages if the source has errors or warnings. */
export const compile = async (): Promise<string> => {
  const input = {
    language: 'Solidity',
    sources: { [SOURCE]: { content: await readFile(new URL(SOURCE, import.meta.url), 'utf8') } },
    settings: {
      // Paris has no PUSH0 opcode, so the bytecode also runs on EVM chains that have not adopted later hard forks.
      evmVersion: 'paris',
      optimizer: { enabled: true, runs: 10_000 },
      // Without the metadata hash, comments and file paths do not change the bytecode.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { [SOURCE]: { [CONTRACT]: ['abi', 'evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as CompilerOutput
  const contract = output.contracts?.[SOURCE]?.[CONTRACT]
  if (output.errors?.length || !contract) {
    throw new Error(
      output.errors?.map((each) => each.formattedMessage).join('\n') ?? 'The Solidity compiler returned no output.',
    )
  }
  const { evmVersion, optimizer } = input.settings
  const compiler = { version: solc.version(), evmVersion, optimizer }
  return `${JSON.stringify({ compiler, bytecode: `0x${contract.evm.bytecode.object}`, abi: contract.abi }, null, 2)}\n`
}

if (import.meta.main) {
  const artefact = await compile()
  if (!process.argv.includes('--check')) await writeFile(artefactFile, artefact)
  else if ((await readFile(artefactFile, 'utf8').catch(() => '')) !== artefact) {
    process.stderr.write(`${fileURLToPath(artefactFile)} is outdated. Run: node src/chain/compile.ts\n`)
    process.exitCode = 1
  }
}
