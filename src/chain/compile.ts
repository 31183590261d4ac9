/**
 * Compiles `registry.sol` and `balances.sol` into JSON, which is committed, so that nobody needs the compiler to run Annal.
 *
 *     node src/chain/compile.ts            writes the artefacts
 *     node src/chain/compile.ts --check    exits with 1 when a committed artefact differs
 */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

/** Every contract, by the name of its files. */
export const contracts = { registry: 'CommitRegistry', balances: 'Balances' } as const
/** A contract. */
export type ContractName = keyof typeof contracts

/** Where a compiled contract lies, with its interface. */
export const artefactFile = (name: ContractName) => new URL(`${name}.json`, import.meta.url)

interface CompilerOutput {
  errors?: { severity: string; formattedMessage: string }[]
  contracts?: { [file: string]: { [contract: string]: { abi: unknown; evm: { bytecode: { object: string } } } } }
}

/** The artefact's exact text. Raises with the compiler's messages when the source does not compile cleanly. */
export const compile = async (name: ContractName): Promise<string> => {
  const file = `${name}.sol`
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: await readFile(new URL(file, import.meta.url), 'utf8') } },
    settings: {
      // Paris has no PUSH0, so the bytecode runs on every EVM chain since the merge, also on those that lag behind.
      evmVersion: 'paris',
      optimizer: { enabled: true, runs: 10_000 },
      // Without the metadata's hash the bytecode depends on the code alone, not on comments and paths.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { [file]: { [contracts[name]]: ['abi', 'evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as CompilerOutput
  const contract = output.contracts?.[file]?.[contracts[name]]
  if (output.errors?.length || !contract) {
    throw new Error(output.errors?.map((each) => each.formattedMessage).join('\n') ?? 'The compiler returned nothing.')
  }
  const { evmVersion, optimizer } = input.settings
  const compiler = { version: solc.version(), evmVersion, optimizer }
  return `${JSON.stringify({ compiler, bytecode: `0x${contract.evm.bytecode.object}`, abi: contract.abi }, null, 2)}\n`
}

if (import.meta.main) {
  for (const name of Object.keys(contracts) as ContractName[]) {
    const [file, artefact] = [artefactFile(name), await compile(name)]
    if (!process.argv.includes('--check')) await writeFile(file, artefact)
    else if ((await readFile(file, 'utf8').catch(() => '')) !== artefact) {
      process.stderr.write(
        `${fileURLToPath(file)} is not what ${name}.sol compiles to. Run: node src/chain/compile.ts\n`,
      )
      process.exitCode = 1
    }
  }
}
