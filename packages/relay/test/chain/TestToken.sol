// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// A token for tests. The account that deploys it owns all of it. It also emits events that no correct token
/// emits.
contract TestToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 digits) {
        decimals = digits;
        balanceOf[msg.sender] = type(uint256).max;
    }

    function transfer(address to, uint256 value) public virtual returns (bool) {
        require(balanceOf[msg.sender] >= value, "too little");
        balanceOf[msg.sender] -= value;
        unchecked {
            balanceOf[to] += value;
        }
        emit Transfer(msg.sender, to, value);
        return true;
    }

    /// Makes several payments in one transaction, as exchanges do.
    function transferAll(address[] calldata to, uint256 value) external {
        for (uint256 i = 0; i < to.length; i++) transfer(to[i], value);
    }

    /// Emits the event as a collectible (ERC-721) does: the third value is an indexed id, not an amount. Then emits
    /// the same event with an amount as well.
    function emitCollectible(address to, uint256 id) external {
        bytes32 signature = keccak256("Transfer(address,address,uint256)");
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        bytes32 receiver = bytes32(uint256(uint160(to)));
        assembly {
            log4(0, 0, signature, sender, receiver, id)
            mstore(0, id)
            log4(0, 32, signature, sender, receiver, id)
        }
    }
}

/// A token that takes a fee of one percent from what it transfers, and reports the gross amount.
contract FeeToken is TestToken {
    constructor(uint8 digits) TestToken(digits) {}

    function transfer(address to, uint256 value) public override returns (bool) {
        super.transfer(to, value);
        balanceOf[to] -= value / 100;
        return true;
    }
}
