import { nobleCrypto } from "./noble-crypto.ts";
import { testNoiseCrypto } from "./noise.contract.ts";

testNoiseCrypto(nobleCrypto, 13);
