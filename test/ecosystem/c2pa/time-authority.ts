/** A time-stamping authority (RFC 3161) on this machine: OpenSSL's, with a certificate of its own. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const configuration = `[tsa]
default_tsa = own
[own]
serial = ./serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_chain = no
ess_cert_id_alg = sha256
`
const authority = 'basicConstraints=critical,CA:TRUE'
const signer = `basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=critical,timeStamping
subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid
`

export async function startTimeAuthority(dir: string) {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' })
  writeFileSync(join(dir, 'tsa.cnf'), configuration)
  writeFileSync(join(dir, 'signer.cnf'), signer)
  writeFileSync(join(dir, 'serial'), '01\n')
  for (const name of ['root', 'tsa']) {
    openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', `${name}.key`)
  }
  openssl(
    ...['req', '-x509', '-new', '-key', 'root.key', '-days', '30', '-subj', '/O=Test/CN=Root'],
    ...['-addext', authority, '-addext', 'keyUsage=critical,keyCertSign', '-out', 'root.pem'],
  )
  openssl('req', '-new', '-key', 'tsa.key', '-subj', '/O=Test/CN=Time', '-out', 'tsa.csr')
  openssl(
    ...['x509', '-req', '-in', 'tsa.csr', '-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial'],
    ...['-days', '30', '-extfile', 'signer.cnf', '-out', 'tsa.pem'],
  )
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    writeFileSync(join(dir, 'question'), Buffer.concat(chunks))
    openssl(
      ...['ts', '-reply', '-config', 'tsa.cnf', '-queryfile', 'question', '-signer', 'tsa.pem'],
      ...['-inkey', 'tsa.key', '-chain', 'root.pem', '-out', 'answer'],
    )
    res.setHeader('Content-Type', 'application/timestamp-reply')
    res.end(readFileSync(join(dir, 'answer')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    root: readFileSync(join(dir, 'root.pem'), 'utf8'),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
