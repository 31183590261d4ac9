/**
 * Error of a failed attempt to send mail. Never show the server's reply: servers put addresses and credentials into
 * it.
 */
export interface SmtpError {
  /** Error code of nodemailer. */
  code?: string
  /** Error code of the operating system or of OpenSSL. */
  originalCode?: string
  timeoutType?: string
  /** The SMTP command that failed. */
  command?: string
  responseCode?: number
  response?: string
}

/** Description of a mail error for operators. */
export interface MailFailure {
  finding: string
  fix: string
}

interface Server {
  /** `host:port`. */
  at: string
  host: string
  isTlsFirst: boolean
}

const TLS_FIRST = 'smtps://user:password@host:465'
const STARTTLS = 'smtp://user:password@host:587?requireTLS=true'
const DEFAULT_PORTS = { 'smtps:': '465', 'smtp:': '587' }

function readServer(smtpUrl: string): Server {
  const { protocol, hostname, port } = new URL(smtpUrl)
  const isTlsFirst = protocol === 'smtps:'
  return { at: `${hostname}:${port || DEFAULT_PORTS[isTlsFirst ? 'smtps:' : 'smtp:']}`, host: hostname, isTlsFirst }
}

const TRUST_CA =
  'If a private CA issued it, name the certificate of the CA in NODE_EXTRA_CA_CERTS (docs/how-to/trust-a-private-ca.md).'

/** Certificate errors by error code of OpenSSL or Node. */
const certificates: Record<string, (server: Server) => MailFailure> = {
  CERT_HAS_EXPIRED: ({ at }) => ({
    finding: `The TLS certificate of the mail server at ${at} has expired`,
    fix: 'Renew the certificate at the mail server. If it is valid, correct the clock of this machine.',
  }),
  CERT_NOT_YET_VALID: ({ at }) => ({
    finding: `The TLS certificate of the mail server at ${at} is not valid yet`,
    fix: 'Correct the clock of this machine, or the certificate at the mail server.',
  }),
  CERT_REVOKED: ({ at }) => ({
    finding: `The TLS certificate of the mail server at ${at} is revoked`,
    fix: 'Install a new certificate at the mail server.',
  }),
  ERR_TLS_CERT_ALTNAME_INVALID: ({ at, host }) => ({
    finding: `The TLS certificate of the mail server at ${at} is for another host name`,
    fix: `Write the host name of the certificate into SMTP_URL, or install a certificate for ${host} at the mail server.`,
  }),
  DEPTH_ZERO_SELF_SIGNED_CERT: ({ at }) => ({
    finding: `The mail server at ${at} has a self-signed TLS certificate`,
    fix: 'Install a certificate of a CA at the mail server, or name its own certificate in NODE_EXTRA_CA_CERTS (docs/how-to/trust-a-private-ca.md).',
  }),
}
const untrusted: (server: Server) => MailFailure = ({ at }) => ({
  finding: `The TLS certificate of the mail server at ${at} is not issued by a trusted CA`,
  fix: `Install the certificate with its intermediate certificates at the mail server. ${TRUST_CA}`,
})
for (const code of [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
]) {
  certificates[code] = untrusted
}

const REACH = 'Check the host and the port in SMTP_URL, the firewall, and whether your provider blocks the port.'

/** Network errors by error code of the operating system. */
const network: Record<string, (server: Server) => MailFailure> = {
  ECONNREFUSED: ({ at }) => ({
    finding: `The mail server at ${at} refused the connection`,
    fix: 'Check the host and the port in SMTP_URL, and that the mail server is running.',
  }),
  ENOTFOUND: ({ host }) => ({
    finding: `The host name ${host} of the mail server does not exist`,
    fix: 'Correct the host in SMTP_URL, or its DNS record.',
  }),
  EHOSTUNREACH: ({ at }) => ({ finding: `No network route leads to the mail server at ${at}`, fix: REACH }),
  ENETUNREACH: ({ at }) => ({ finding: `No network route leads to the mail server at ${at}`, fix: REACH }),
}

const resetFailure = ({ at, isTlsFirst }: Server): MailFailure => ({
  finding: `The mail server at ${at} closed the connection`,
  fix: isTlsFirst
    ? `Check the port in SMTP_URL and the log of the mail server. For a port with STARTTLS, set SMTP_URL to ${STARTTLS}.`
    : `Check the port in SMTP_URL and the log of the mail server. For a port that expects TLS at once, set SMTP_URL to ${TLS_FIRST}.`,
})

function explainTimeout({ timeoutType }: SmtpError, { at, isTlsFirst }: Server): MailFailure {
  if (timeoutType === 'GREETING_TIMEOUT' && !isTlsFirst) {
    return {
      finding: `The mail server at ${at} accepted the connection and sent no greeting`,
      fix: `The port probably expects TLS at once: set SMTP_URL to ${TLS_FIRST}. For STARTTLS, use port 587.`,
    }
  }
  if (timeoutType === 'CONNECT_TIMEOUT') {
    return { finding: `The mail server at ${at} did not accept the connection in time`, fix: REACH }
  }
  return {
    finding: `The mail server at ${at} did not answer in time`,
    fix: 'Look at the load and the log of the mail server.',
  }
}

/** Explains a TLS handshake that failed for a reason other than the certificate. */
function explainHandshake({ originalCode = '' }: SmtpError, { at, isTlsFirst }: Server): MailFailure {
  if (isTlsFirst && /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|EPROTO/.test(originalCode)) {
    return {
      finding: `The mail server at ${at} does not start with TLS`,
      fix: `The port probably expects STARTTLS: set SMTP_URL to ${STARTTLS}. For smtps://, use port 465.`,
    }
  }
  return {
    finding: `The TLS handshake with the mail server at ${at} failed`,
    fix: 'The mail server must offer TLS 1.2 or later. Look at its log.',
  }
}

/** Explains a server without STARTTLS although SMTP_URL requires it. */
const noStartTls = ({ at }: Server): MailFailure => ({
  finding: `The mail server at ${at} does not offer STARTTLS, which SMTP_URL requires`,
  fix: `Enable TLS at the mail server, or set SMTP_URL to ${TLS_FIRST}.`,
})

const needsStartTls = ({ at }: Server): MailFailure => ({
  finding: `The mail server at ${at} accepts mail over TLS only`,
  fix: `Set SMTP_URL to ${STARTTLS}, without ignoreTLS.`,
})

const isTransient = (responseCode: number) => responseCode < 500

function explainSignIn({ responseCode, command, response = '' }: SmtpError, server: Server): MailFailure {
  const { at } = server
  if (responseCode === undefined && command === 'API') {
    return {
      finding: 'SMTP_URL has a user name without a password',
      fix: 'Write both into SMTP_URL, percent-encoded, or neither.',
    }
  }
  if (responseCode === 538 || (responseCode === 530 && /TLS/i.test(response))) return needsStartTls(server)
  if (responseCode !== undefined && isTransient(responseCode)) {
    return {
      finding: `The mail server at ${at} cannot check the password of SMTP_URL at the moment`,
      fix: 'Try again later, and look at the log of the mail server.',
    }
  }
  if (responseCode === 534) {
    return {
      finding: `The mail server at ${at} does not accept this way to sign in`,
      fix: 'Many providers require a password for applications instead of that of the account. Write it into SMTP_URL.',
    }
  }
  if (responseCode !== undefined && responseCode >= 500 && responseCode <= 504) {
    return {
      finding: `The mail server at ${at} does not support the way to sign in`,
      fix: 'Remove user name and password from SMTP_URL, or enable AUTH PLAIN or LOGIN at the mail server.',
    }
  }
  return {
    finding: `The mail server at ${at} rejected the user name or the password of SMTP_URL`,
    fix: 'Write the right ones into SMTP_URL. Characters such as @ : / # % must be percent-encoded.',
  }
}

/** Explains a rejected sender or recipient, or a missing precondition such as TLS or a login. */
function explainEnvelope(error: SmtpError, server: Server, from: string): MailFailure {
  const { responseCode = 0, response = '', command } = error
  const { at } = server
  if (responseCode === 530 && /TLS/i.test(response)) return needsStartTls(server)
  if (responseCode === 530 || (command !== 'RCPT TO' && /auth|log ?in|sign ?in/i.test(response))) {
    return {
      finding: `The mail server at ${at} requires authentication`,
      fix: 'Write the user name and the password into SMTP_URL.',
    }
  }
  if (isTransient(responseCode)) {
    return {
      finding: `The mail server at ${at} rejects mail for now`,
      fix: 'Mail is tried again for a day. If this lasts, look at the limits and the log of the mail server.',
    }
  }
  if (command === 'RCPT TO') {
    return {
      finding: `The mail server at ${at} rejected the recipient`,
      fix: 'If it rejects all recipients, write a user name and a password that may send mail into SMTP_URL, or allow this machine to relay.',
    }
  }
  if (command === 'MAIL FROM') {
    return {
      finding: `The mail server at ${at} rejected the sender ${from}`,
      fix: 'Set MAIL_FROM to an address that this account may send from, or allow it at the mail server.',
    }
  }
  return {
    finding: `The mail server at ${at} rejected the message`,
    fix: 'Look at the log of the mail server for the reason, such as its size or a spam filter.',
  }
}

function explain(error: SmtpError, server: Server, from: string): MailFailure {
  const { code, originalCode = '', responseCode, command = '', timeoutType } = error
  const { at } = server
  const known = certificates[originalCode] ?? network[originalCode]
  if (known) return known(server)
  if (command === 'STARTTLS' && responseCode !== undefined) return noStartTls(server)
  if (/^ERR_(SSL|TLS)|^EPROTO$/.test(originalCode) || code === 'ETLS') return explainHandshake(error, server)
  if (code === 'EDNS') {
    return {
      finding: `The host name ${server.host} of the mail server cannot be resolved`,
      fix: 'Check the DNS servers of this machine, and the host in SMTP_URL.',
    }
  }
  if (timeoutType !== undefined || code === 'ETIMEDOUT' || originalCode === 'ETIMEDOUT') {
    return explainTimeout(originalCode === 'ETIMEDOUT' ? { timeoutType: 'CONNECT_TIMEOUT' } : error, server)
  }
  if (code === 'EAUTH') return explainSignIn(error, server)
  if (command === 'CONN' && responseCode !== undefined) {
    return {
      finding: `The mail server at ${at} does not talk to this machine`,
      fix: 'Look at the log of the mail server. It may block or limit the address of this machine.',
    }
  }
  if (responseCode !== undefined) return explainEnvelope(error, server, from)
  if (code === 'EPROTOCOL') {
    return { finding: `The server at ${at} does not speak SMTP`, fix: 'Correct the host and the port in SMTP_URL.' }
  }
  if (code === 'ECONNECTION' || originalCode === 'ECONNRESET' || originalCode === 'EPIPE') return resetFailure(server)
  return { finding: `The mail server at ${at} cannot be used`, fix: REACH }
}

/**
 * Explains why a mail server rejected a mail. `from` is the sender's address. The finding ends with the error codes
 * and contains no secret.
 */
export function explainMailFailure(
  error: SmtpError,
  { smtpUrl, from }: { smtpUrl: string; from: string },
): MailFailure {
  if (!URL.canParse(smtpUrl)) {
    return {
      finding: 'SMTP_URL is not a valid URL.',
      fix: `Write it as ${TLS_FIRST}. Characters such as @ : / # % in the password must be percent-encoded.`,
    }
  }
  const { finding, fix } = explain(error, readServer(smtpUrl), from)
  const codes = [error.originalCode ?? error.code, error.responseCode].filter((part) => part !== undefined)
  return { finding: `${finding} (${codes.join(' ') || 'unknown error'}).`, fix }
}
