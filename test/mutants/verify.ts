/** Rules of the verifier. */
import { type Mutant, mutantsOf } from './mutant.ts'

const tampering = ['verify/tampering.test.ts']
const forged = ['verify/forged-proof.test.ts']

/** What a stranger would not find any more. */
export const verify: Mutant[] = [
  ...mutantsOf(
    'src/chain/recorders.ts',
    ['chain/earlier-relays.test.ts'],
    [
      [
        'verify.earlier-relays',
        'What a relay account wrote counts also when its key was exchanged.',
        `, ...carried])`,
        `])`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/connect-chain.ts',
    ['chain/earlier-relays.test.ts'],
    [
      [
        'verify.named-relays',
        'A check looks for what earlier relay accounts wrote that the configuration names.',
        `[...(await relayAddresses(config)), ...config.chain.earlierRelays]`,
        `[...(await relayAddresses(config))]`,
      ],
    ],
  ),
  ...mutantsOf('src/verify/judge-commit.ts', tampering, [
    [
      'verify.tree',
      'Bytes that are not those of their identifier are found.',
      'holds(isNamed, ',
      'holds(isNamed || true, ',
    ],
    [
      'verify.sha256',
      'A tree that is not the signed one is found.',
      'holds(sha256 === data.assetTreeSha256,',
      'holds(sha256 !== "",',
    ],
    [
      'verify.signer',
      'A tree that somebody else signed is found.',
      'signer === getAddress(committer.toLowerCase())',
      'signer.length === getAddress(committer.toLowerCase()).length',
    ],
    [
      'verify.time',
      'Time that runs back is found.',
      'timestampCreated >= previous.timestampCreated',
      'timestampCreated > 0',
    ],
    [
      'verify.later-than-block',
      'A commit that says it was made after its block is found.',
      'timestampCreated <= blockTime + CLOCKS_DIFFER_SECONDS',
      'timestampCreated > 0 || blockTime > CLOCKS_DIFFER_SECONDS',
    ],
  ]),
  ...mutantsOf('src/verify/judge.ts', tampering, [
    [
      'verify.strangers',
      'What strangers wrote counts for nothing.',
      'whose.some((known) => sameAddress(known, recorder))',
      'whose.length > 0 && sameAddress(recorder, recorder)',
    ],
    [
      'verify.first-writer',
      'Whoever wrote rubbish before the file was registered does not make its history look broken.',
      'isAnybodys(foreign.length, recorders)\n    ?',
      'isAnybodys(0, recorders)\n    ?',
    ],
    [
      'verify.unsettled',
      'What could not be looked at is no yes.',
      "results.includes('unknown') ? 'unsettled' : 'holds'",
      "results.length === 0 ? 'unsettled' : 'holds'",
    ],
  ]),
  ...mutantsOf('src/verify/read-events.ts', tampering, [
    [
      'verify.cut-list',
      'A list that the node cut off is found.',
      "if (list === 'cutOff') return wrong(",
      "if (list === 'cutOff') return unknown(",
    ],
    ['verify.chain-id', 'A transaction of another chain is found.', 'signed.chainId === chainId', 'signed.chainId > 0'],
  ]),
  ...mutantsOf('src/verify/read-events.ts', forged, [
    [
      'verify.twin-block',
      'A block that was made up is not settled by another one of its number.',
      'blocks.set(hash, header)',
      'blocks.set(head.hash, header)',
    ],
    [
      'verify.block-twice',
      'What stands in a block counts once, however often a proof shows it.',
      'if (read.has(hash)) continue',
      'if (read.has(hash) && number < 0) continue',
    ],
  ]),
  ...mutantsOf('src/verify/verify.ts', forged, [
    [
      'verify.registry-named',
      'A proof of a registry that the reader did not name is no yes.',
      'isRegistryNamed: options.registry !== undefined',
      'isRegistryNamed: true',
    ],
    [
      'verify.file-beside',
      'A file that is given beside a proof is no other than the one that the identifier names.',
      "if (file === undefined || named?.result === 'wrong') return named",
      'if (file === undefined) return named',
    ],
  ]),
  ...mutantsOf('src/verify/trie.ts', forged, [
    [
      'verify.endless-table',
      'A table whose nodes name each other again and again is not read without end.',
      'values <= MOST_VALUES_OF_A_NODE * asked.size',
      'values >= 0',
    ],
  ]),
  ...mutantsOf('src/verify/file-source.ts', forged, [
    [
      'verify.endless-block',
      'A block that claims to be longer than any is not waited for.',
      'if (waiting > 2 * LARGEST_BLOCK_BYTES) return',
      'if (waiting < 0) return',
    ],
  ]),
  ...mutantsOf('src/verify/print.ts', forged, [
    [
      'verify.spoofed-lines',
      'Words of others are no lines of ours.',
      'lines: lines.map(plain)',
      'lines: lines.map(String)',
    ],
  ]),
  ...mutantsOf('src/verify/collect.ts', tampering, [
    [
      'verify.torn-list',
      'A list that the node was just writing is asked for again.',
      'block > 0 && block <= Number(head.number)',
      'block >= 0',
    ],
    [
      'verify.torn-state',
      'A proof of the state that the node was just writing is asked for again.',
      'keccak256(accountProof[0]) === stateRoot',
      'true',
    ],
    [
      'verify.torn-page',
      'Each page of the list is proven by the state of the same block.',
      'isOfHead &&= accountProof[0]',
      'isOfHead = accountProof[0]',
    ],
  ]),
  ...mutantsOf('src/verify/settle.ts', tampering, [
    [
      'verify.settle',
      'A block that a node does not have is found.',
      'if (block.hash !== hash) {',
      'if (!block.hash) {',
    ],
  ]),
]
