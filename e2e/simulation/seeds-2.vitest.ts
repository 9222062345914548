import { testSeeds } from "./run-seeds.ts";

testSeeds(51, 45);
