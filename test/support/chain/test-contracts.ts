/** Contracts that send payments, compiled at the start of a test. */
import { readFileSync } from 'node:fs'
import { ContractFactory, Interface } from 'ethers'
import solc from 'solc'
import { quantity } from '../../../src/chain/rpc.ts'
import { COIN, type DepositScene } from './deposit-scene.ts'

type Name = 'TestToken' | 'Payer'

const compiled = (() => {
  const sources = {
    'test-contracts.sol': { content: readFileSync(new URL('test-contracts.sol', import.meta.url), 'utf8') },
  }
  const settings = { evmVersion: 'paris', outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } }
  const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })))
  return output.contracts['test-contracts.sol'] as Record<Name, { abi: []; evm: { bytecode: { object: string } } }>
})()

export async function deploy(
  scene: Pick<DepositScene, 'rpc' | 'sender' | 'mine'>,
  name: Name,
  args: readonly unknown[] = [],
) {
  const { abi, evm } = compiled[name]
  const { data } = await new ContractFactory(abi, evm.bytecode.object).getDeployTransaction(...args)
  const send = (parameters: object) =>
    scene.rpc.call<string>('eth_sendTransaction', { from: scene.sender, gas: quantity(2_000_000), ...parameters })
  const hash = await send({ data })
  await scene.mine(1)
  const { contractAddress: address } = await scene.rpc.call<{ contractAddress: string }>(
    'eth_getTransactionReceipt',
    hash,
  )
  const contract = new Interface(abi)
  return {
    address,
    call: (method: string, given: readonly unknown[], value = 0n, more = {}) =>
      send({ ...more, to: address, data: contract.encodeFunctionData(method, given), value: quantity(value * COIN) }),
  }
}
