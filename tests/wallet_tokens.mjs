// Makes wallets' tokens with node:crypto and the openssl command alone, so that nothing of the gateway is believed.
// Reads a JSON list of wishes from standard input and writes the list of tokens. Certificates and keys come as files.
import crypto from 'node:crypto';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), crypto.createHash('sha256')).digest();
const spki = (publicKey) => publicKey.export({ type: 'spki', format: 'der' });

// An uncompressed point is the last 65 bytes of a P-256 public key.
const point = (key) => spki(key).subarray(-65);

function agree(ephemeral, recipient) {
  const ecdh = crypto.createECDH('prime256v1');
  ecdh.setPrivateKey(Buffer.from(ephemeral.privateKey.export({ format: 'jwk' }).d, 'base64url'));
  return ecdh.computeSecret(point(recipient));
}

const makeEphemeral = (curve = 'prime256v1') => crypto.generateKeyPairSync('ec', { namedCurve: curve });

// ---- walletA ----

// The elements inside an element of DER, each with its tag and length.
function children(element) {
  const found = [];
  let at = contentAt(element);
  while (at < element.length) {
    const rest = element.subarray(at);
    const end = contentAt(rest) + contentLength(rest);
    found.push(rest.subarray(0, end));
    at += end;
  }
  return found;
}

const contentAt = (element) => (element[1] < 0x80 ? 2 : 2 + (element[1] & 0x7f));
const contentLength = (element) => (element[1] < 0x80 ? element[1] : element.readUIntBE(2, element[1] & 0x7f));
const openEnded = (tag, parts) => Buffer.concat([Buffer.from([tag, 0x80]), ...parts, Buffer.from([0, 0])]);

// As devices write it: the outer lengths are left open and ended by two zero bytes.
function openLengths(der) {
  const [kind, holder] = children(der);
  const [version, digests, content, certificates, signers] = children(children(holder)[0]);
  const body = [version, digests, openEnded(0x30, children(content)), openEnded(0xa0, children(certificates)), signers];
  return openEnded(0x30, [kind, openEnded(0xa0, [openEnded(0x30, body)])]);
}

function signCms(message, wish) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cms-'));
  try {
    const file = path.join(folder, 'message');
    fs.writeFileSync(file, message);
    const chain = wish.chain ? ['-certfile', wish.chain] : [];
    const command = ['cms', '-sign', '-binary', '-in', file, '-outform', 'DER', '-signer', wish.signer, '-inkey',
      wish.signerKey, '-md', wish.digest ?? 'sha256', '-nosmimecap', ...(wish.attached ? ['-nodetach'] : []), ...chain];
    // With -f the time stands still, however long the machine takes.
    const still = ['-f', wish.signedAt, 'openssl', ...command];
    const der = execFileSync('faketime', still, { stdio: ['ignore', 'pipe', 'pipe'] });
    return wish.indefinite === false ? der : openLengths(der);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function makeA(wish) {
  const recipient = crypto.createPublicKey(fs.readFileSync(wish.recipientKey));
  const ephemeral = makeEphemeral();
  const parties = Buffer.concat([Buffer.from('\x0did-aes256-GCM'), Buffer.from('Apple'), sha256(wish.merchant)]);
  const key = sha256(agree(ephemeral, recipient), Buffer.from([0, 0, 0, 1]), parties);
  const cipher = crypto.createCipheriv('aes-256-gcm', key, Buffer.alloc(16));
  const data = Buffer.concat([cipher.update(JSON.stringify(wish.contents)), cipher.final(), cipher.getAuthTag()]);
  const ephemeralKey = spki(ephemeral.publicKey);
  const transactionId = crypto.randomBytes(32);
  const applicationData = wish.applicationData ? sha256(wish.applicationData) : Buffer.alloc(0);
  const signature = signCms(Buffer.concat([ephemeralKey, data, transactionId, applicationData]), wish);
  return JSON.stringify({
    version: wish.version ?? 'EC_v1',
    data: data.toString('base64'),
    signature: signature.toString('base64'),
    header: {
      ephemeralPublicKey: ephemeralKey.toString('base64'),
      publicKeyHash: sha256(spki(recipient)).toString('base64'),
      transactionId: transactionId.toString('hex'),
      ...(wish.applicationData ? { applicationData: applicationData.toString('hex') } : {}),
    },
  });
}

// ---- walletB ----

function join(...parts) {
  return Buffer.concat(parts.flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(Buffer.byteLength(part));
    return [length, Buffer.from(part)];
  }));
}

const sign = (key, ...parts) => crypto.sign('sha256', join(...parts), key).toString('base64');

function makeB(wish) {
  const root = crypto.createPrivateKey(fs.readFileSync(wish.rootKey));
  const recipient = crypto.createPublicKey(fs.readFileSync(wish.recipientKey));
  const intermediate = makeEphemeral();
  const signedKey = JSON.stringify({
    keyValue: spki(intermediate.publicKey).toString('base64'),
    keyExpiration: String(wish.keyExpiration),
  });
  const ephemeral = makeEphemeral();
  const ephemeralKey = point(ephemeral.publicKey);
  const material = Buffer.concat([ephemeralKey, agree(ephemeral, recipient)]);
  const keys = Buffer.from(crypto.hkdfSync('sha256', material, Buffer.alloc(32), 'Google', 64));
  const cipher = crypto.createCipheriv('aes-256-ctr', keys.subarray(0, 32), Buffer.alloc(16));
  const encrypted = Buffer.concat([cipher.update(JSON.stringify(wish.contents)), cipher.final()]);
  // A wish may break the tag under signatures that are right.
  const tagKey = wish.brokenTag ? 'another key' : keys.subarray(32);
  const signedMessage = JSON.stringify({
    encryptedMessage: encrypted.toString('base64'),
    ephemeralPublicKey: ephemeralKey.toString('base64'),
    tag: crypto.createHmac('sha256', tagKey).update(encrypted).digest('base64'),
  });
  const protocol = wish.protocol ?? 'ECv2';
  return JSON.stringify({
    protocolVersion: protocol,
    signature: sign(intermediate.privateKey, 'Google', wish.recipient, protocol, signedMessage),
    intermediateSigningKey: { signedKey, signatures: [sign(root, wish.sender ?? 'Google', protocol, signedKey)] },
    signedMessage,
  });
}

// ---- walletC ----

const PADDINGS = {
  'RSA-OAEP': { padding: crypto.constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' },
  'RSA-OAEP-256': { padding: crypto.constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
  RSA1_5: { padding: crypto.constants.RSA_PKCS1_PADDING },
};
const CIPHERS = { A128GCM: ['aes-128-gcm', 16], A256GCM: ['aes-256-gcm', 32] };

function makeC(wish) {
  const recipient = crypto.createPublicKey(fs.readFileSync(wish.recipientKey));
  const [name, length] = CIPHERS[wish.enc ?? 'A128GCM'];
  const key = crypto.randomBytes(length);
  const nonce = crypto.randomBytes(12);
  const kid = sha256(spki(recipient)).toString('base64');
  const header = { alg: wish.alg, kid, typ: 'JOSE', channelSecurityContext: 'RSA_PKI', enc: wish.enc ?? 'A128GCM',
    ...(wish.header ?? {}) };
  const protectedHeader = Buffer.from(JSON.stringify(header)).toString('base64url');
  const cipher = crypto.createCipheriv(name, key, nonce);
  cipher.setAAD(Buffer.from(protectedHeader));
  const body = Buffer.concat([cipher.update(JSON.stringify(wish.contents)), cipher.final()]);
  // A wish may break the padding: the key is then not padded at all.
  const block = wish.brokenPadding
    ? crypto.publicEncrypt({ key: recipient, padding: crypto.constants.RSA_NO_PADDING }, Buffer.alloc(256, 7))
    : crypto.publicEncrypt({ key: recipient, ...PADDINGS[wish.alg] }, key);
  const jwe = [protectedHeader, ...[block, nonce, body, cipher.getAuthTag()].map((part) => part.toString('base64url'))]
    .join('.');
  return wish.wrapped ? JSON.stringify({ method: '3DS', '3DS': { type: 'S', version: '100', data: jwe } }) : jwe;
}

const MAKERS = { walletA: makeA, walletB: makeB, walletC: makeC };
const wishes = JSON.parse(fs.readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(wishes.map((wish) => MAKERS[wish.wallet](wish))));
